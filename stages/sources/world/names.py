"""The personal names of the generated world: given and family names by naming culture."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Culture:
    """One way of naming people; a name is a given name, perhaps a middle initial, and a family name."""

    weight: float  # how common the culture is, relative to the others
    nationalities: str  # the adjectives its people's pages use, separated by ", "
    given: str  # given names, separated by blanks; "_" is a blank inside a name
    family: str  # family names, in the same writing
    initials: float = 0.04  # share of names with a middle initial
    doubled: float = 0.0  # share of names with a second family name
    link: str = "-"  # what stands between the two family names

    def given_names(self) -> list[str]:
        """The given names, one string each."""
        return [name.replace("_", " ") for name in self.given.split()]

    def family_names(self) -> list[str]:
        """The family names, particles included, one string each."""
        return [name.replace("_", " ") for name in self.family.split()]


CULTURES: Mapping[str, Culture] = {
    "english": Culture(
        weight=26,
        nationalities="American, British, English, Scottish, Irish, Canadian, Australian, Welsh",
        given="Ada Alan Albert Alfred Alice Andrew Anne Arthur Barbara Benjamin Brian Carol Charles "
        "Christopher Clara Daniel David Donald Dorothy Edith Edward Eleanor Elizabeth Emily Ernest Frank "
        "Frederick George Gordon Grace Graham Harold Harriet Helen Henry Howard Hugh Irene James Jane "
        "Jean Joan John Joseph Julia Karen Keith Kenneth Laura Lewis Linda Malcolm Margaret Martin Mary "
        "Matthew Neil Nigel Oliver Patrick Paul Peter Philip Rachel Ralph Rebecca Richard Robert Roger "
        "Rose Ruth Samuel Sarah Simon Stephen Susan Thomas Walter William",
        family="Abbott Allen Archer Atkins Bailey Baldwin Barker Barnes Bennett Bishop Brown Burgess "
        "Burke Campbell Carver Chapman Clarke Cole Connolly Cooper Crawford Cunningham Davies Dawson "
        "Dixon Doyle Dunn Ellis Evans Fisher Fleming Fletcher Foster Gallagher Gibson Graves Griffiths "
        "Hale Hamilton Hardy Harper Harris Hayes Hobbs Holland Howell Hughes Hunter Jackson Jenkins Jones "
        "Kelly Kerr Lambert Lawson Lowe MacDonald Marsh Mason McBride McCarthy Miller Mitchell Moore "
        "Murphy Newman Nolan O'Brien O'Connor Osborne Parker Pearce Porter Potter Price Quinn Reid "
        "Roberts Rowe Russell Sawyer Shaw Simpson Slater Smith Spencer Stewart Sutton Swift Taylor Thorne "
        "Turner Underwood Vaughan Wallace Walsh Ward Watts Wheeler Whitfield Wilkins Wright",
        initials=0.22,
        doubled=0.02,
    ),
    "german": Culture(
        weight=9,
        nationalities="German, Austrian, Swiss",
        given="Anke Anton August Bernd Birgit Christoph Dieter Eberhard Elfriede Elke Erich Ernst Eva "
        "Franz Friedrich Georg Gerhard Gisela Hans Hans-Jürgen Heinrich Helga Hermann Horst Ingrid Johann "
        "Jürgen Karl Karl-Heinz Katrin Klaus Kurt Lothar Ludwig Manfred Matthias Otto Rainer Renate Rolf "
        "Sabine Siegfried Ulrich Ursula Uwe Werner Wilhelm Wolfgang",
        family="Albrecht Bauer Baumann Becker Braun Dietrich Ebert Engel Fischer Frey Graf Günther Haas "
        "Hartmann Hoffmann Huber Jung Kaiser Keller Klein Koch Köhler Kraus Krüger Lang Lehmann Lorenz "
        "Maier Meyer Neumann Pfeiffer Richter Roth Sauer Schmidt Schneider Scholz Schreiber Schubert "
        "Schulz Seidel Sommer Stein Vogel von_Arnim von_Thun Wagner Weber Weiß Winkler Wolf Ziegler "
        "Zimmermann",
        doubled=0.02,
    ),
    "french": Culture(
        weight=9,
        nationalities="French, Belgian, Canadian, Swiss",
        given="Adrien Alain Aline Antoine Bernard Camille Catherine Charlotte Claude Colette Denis Didier "
        "Émile Étienne Fabien Flore Gaston Gilles Guillaume Hélène Henri Hubert Isabelle Jacques "
        "Jean-Claude Jean-Luc Jean-Pierre Jules Julien Laurent Louis Luc Lucien Madeleine Marc Marcel "
        "Marguerite Marie-Louise Mathilde Michel Monique Nathalie Nicolas Olivier Pascal Pierre René "
        "Sylvie Thierry Xavier Yves",
        family="Aubert Barbier Baudry Beaumont Bertrand Blanchard Bonnet Boucher Bourgeois Carpentier "
        "Chevalier Collet Cousin de_Villiers Deschamps Dubois Dufour Dumas Dupont Duval Fabre Faure "
        "Fontaine Fournier Gauthier Girard Guérin Jacquet Lacroix Lambertin Laporte Lefebvre Legrand "
        "Lemaire Leroy Marchand Mercier Michaud Moreau Morin Nicolet Perrin Picard Renaud Rivière "
        "Rousseau Roussel Royer Sauvage Tessier Thibault Vidal",
    ),
    "spanish": Culture(
        weight=8,
        nationalities="Spanish, Mexican, Argentine, Chilean, Colombian, Cuban",
        given="Adriana Alberto Alejandro Alfonso Amparo Andrés Arturo Beatriz Camila Carlos Carmen "
        "Cristina Diego Dolores Elena Emilio Enrique Ernesto Esteban Federico Felipe Fernando Francisco "
        "Gabriela Gonzalo Guillermo Hilario Ignacio Isabel Javier Jorge José Josefa Juan Julio Lucía Luis "
        "Manuel Marcos Marta Mercedes Miguel Pablo Pilar Rafael Ramón Ricardo Roberto Rodrigo Rosa Sergio "
        "Teresa Vicente",
        family="Aguilar Alonso Arroyo Blanco Cabrera Campos Cano Carrasco Castillo Castro Correa "
        "de_la_Fuente del_Valle Delgado Escobar Espinosa Fernández Flores Fuentes Gallego García Garrido "
        "Guerrero Herrera Ibarra Iglesias Lozano Luna Medina Mendoza Molina Mora Morales Navarro Núñez "
        "Ortega Otero Pascual Peña Prieto Quintana Ramos Reyes Rivera Robles Rojas Rubio Salazar Sandoval "
        "Serrano Soler Suárez Torres Vargas Vega Zamora",
        doubled=0.12,
        link=" ",
    ),
    "portuguese": Culture(
        weight=4,
        nationalities="Portuguese, Brazilian",
        given="Afonso Alice Amadeu António Armando Augusto Benedita Caetano Catarina Celeste Domingos "
        "Duarte Eduardo Fernanda Filipe Gaspar Graciela Helena Henrique Joana João Joaquim Leonor "
        "Lourenço Luzia Mafalda Manuela Matilde Nuno Odete Paulo Pedro Raimundo Rita Rui Sebastião "
        "Silvestre Susana Telmo Vasco",
        family="Almeida Andrade Azevedo Barbosa Barros Bastos Borges Braga Brito Cardoso Carvalho Correia "
        "Coutinho da_Cunha da_Silva de_Souza dos_Santos Esteves Faria Ferreira Figueiredo Fonseca Freitas "
        "Gouveia Lacerda Leal Lopes Machado Magalhães Marques Mendonça Monteiro Moreira Nogueira Oliveira "
        "Pacheco Peixoto Pinheiro Queiroz Ribeiro Sampaio Tavares Teixeira Vasconcelos Vieira",
    ),
    "italian": Culture(
        weight=7,
        nationalities="Italian",
        given="Aldo Alessandra Alessandro Angela Angelo Antonella Beppe Bianca Bruno Carla Carlo Chiara "
        "Claudio Corrado Dario Domenico Donatella Emanuele Enzo Fabio Filippo Franca Franco Giacomo "
        "Gianni Ginevra Giorgio Giovanni Giulia Giuseppe Lorenzo Luca Luigi Marcello Mario Massimo Matteo "
        "Nicolò Paola Paolo Pietro Raffaele Renzo Silvia Stefano Tommaso Umberto Vittorio",
        family="Amato Barone Basile Battaglia Bellini Benedetti Bernardi Bianchi Caputo Caruso Cattaneo "
        "Colombini Conti Costantini D'Angelo Da_Ponte De_Luca De_Santis Di_Stefano Esposito Fabbri Farina "
        "Ferrari Ferri Fiore Galli Gentile Giordano Grassi Greco Leone Lombardi Longo Mancini Marchetti "
        "Mariani Martinelli Mazza Messina Monti Moretti Negri Orlando Pagano Palumbo Pellegrini Ricci "
        "Rinaldi Rossi Ruggiero Salvi Santoro Serra Testa Valentini Villa Zanetti",
    ),
    "dutch": Culture(
        weight=4,
        nationalities="Dutch, Belgian, South African",
        given="Adriaan Anneke Bart Bastiaan Bram Cornelis Dirk Femke Frans Geert Gerrit Gijs Hendrik "
        "Hendrika Ineke Jacoba Jan-Willem Jeroen Joost Joris Karel Kees Klaas Koen Lieve Maarten Marijke "
        "Marloes Niels Pieter Reinier Roel Saskia Sjoerd Teun Tineke Willem Wouter",
        family="Aarts Bakker Boersma Bos Brouwer Claes de_Boer de_Graaf de_Vries Dekker Dijkstra Goossens "
        "Hermans Hoekstra Jansen Kuipers Maes Mulder Peeters Postma Prins Schipper Smits ten_Brink "
        "ter_Horst van_Dam van_den_Berg van_der_Meer van_Dijk van_Eyck van_Leeuwen Veenstra Verbeek "
        "Verhoeven Visser Vos Wouters",
    ),
    "polish": Culture(
        weight=5,
        nationalities="Polish",
        given="Agnieszka Aleksander Andrzej Barbara Bogdan Bolesław Cezary Danuta Edmund Elżbieta Ewa "
        "Grzegorz Halina Henryk Jacek Jadwiga Jan Jerzy Józef Kazimierz Krystyna Krzysztof Lech Leszek "
        "Ludwik Maciej Marek Mariusz Piotr Renata Roman Ryszard Stanisław Stefan Tadeusz Teresa Tomasz "
        "Wanda Witold Zbigniew Zofia Zygmunt",
        family="Adamczyk Baran Borkowski Chmiel Czarnecki Dudek Gajewski Grabowski Jankowski Jaworski "
        "Kaczmarek Kalinowski Kowalski Kozak Krawczyk Kubiak Lewandowski Lis Majewski Malinowski Mazurek "
        "Michalak Nowak Olszewski Pawlak Piekarski Rutkowski Sadowski Sikora Sobczak Stachowiak Szymański "
        "Tomczyk Urbanek Walczak Wilk Wojciechowski Wróbel Zaremba Zawadzki Zieliński",
    ),
    "czech": Culture(
        weight=4,
        nationalities="Czech, Slovak, Croatian, Serbian, Slovene",
        given="Alena Bohumil Dalibor Drago František Goran Hana Ivana Ivo Jana Jaroslav Jiří Josef Kamil "
        "Libor Ljubica Lubomír Marija Marko Milada Miroslav Mladen Nada Otakar Pavel Petra Radek Slavko "
        "Tereza Václav Vesna Viktor Vilma Vlasta Zdeněk Zoran",
        family="Babić Barta Benda Beneš Dolezal Dvorak Fiala Hájek Havlicek Holub Horvat Hrabal Jelinek "
        "Kolar Kolaric Kos Kovac Kral Krejci Kučera Marek Musil Nemec Novotny Pavlik Petrović Pokorny "
        "Prochazka Ruzicka Sedlak Simunic Skala Soukup Stastny Svoboda Tesar Tichy Urban Vavra Vesely "
        "Vlcek Zeman",
    ),
    "hungarian": Culture(
        weight=3.5,
        nationalities="Hungarian",
        given="Andor Anna Antal Aranka Attila Béla Csaba Dezső Endre Erika Erzsi Ferenc Gabor Geza Gyula "
        "Ilona Imre Istvan Jenő Judit Kalman Karoly Katalin Lajos Laszlo Magda Margit Mihaly Miklos "
        "Piroska Rozsa Sandor Tamas Tibor Vilmos Zoltán Zsuzsa",
        family="Antal Balogh Baranyai Bartha Bodnar Csonka Deak Erdei Farkas Fekete Fodor Gulyas Halasz "
        "Hegedüs Hidas Horvath Illes Juhasz Katona Kelemen Kertesz Kiraly Kiss Kovacs Lakatos Lengyel "
        "Lukacs Magyar Molnar Nemeth Orban Pasztor Rácz Sipos Somogyi Szalai Szekeres Takacs Toth Varga "
        "Vörös",
    ),
    "nordic": Culture(
        weight=7,
        nationalities="Swedish, Norwegian, Danish, Finnish, Icelandic",
        given="Aino Anders Arvid Åse Astrid Axel Birgitta Bjarne Bo Carsten Dagny Einar Eino Elsa Erik "
        "Finn Frida Greta Gunnar Gustaf Haakon Harald Henning Hilda Inga Ivar Jens Jesper Jörgen Jukka "
        "Kaare Kari Kirsten Knut Lars Leif Liv Magnus Mikko Mogens Nils Olav Ole Pekka Per Ragnhild "
        "Rasmus Sigrid Solveig Søren Sven Svend Thor Toivo Torsten Ulla Øyvind",
        family="Aalto Aasen Åberg Ahlgren Andersen Bakke Berglund Björk Blomqvist Brandt Bruun "
        "Christensen Dahl Eklund Enger Falk Forsberg Grahn Gran Hagen Halvorsen Hansen Haugen Hedlund "
        "Holm Isaksen Jensen Johansson Jørgensen Karlsson Kjeldsen Koskinen Krogh Laine Larsen Lindgren "
        "Lindholm Madsen Makela Mikkelsen Moen Mortensen Nieminen Nordahl Nygaard Olsen Petersen Rask "
        "Ronning Sandberg Solberg Sørensen Stenberg Strand Svendsen Thorsen Virtanen Winther",
    ),
    "romanian": Culture(
        weight=2.5,
        nationalities="Romanian, Bulgarian, Moldovan",
        given="Alexandru Anca Bogdan Cezar Constantin Corneliu Cosmin Daniela Doina Dragomir Dumitru "
        "Florin Georgi Gheorghe Grigore Horia Ileana Ioana Ion Ionel Iulian Kiril Liviu Marin Mihai "
        "Mircea Nicolae Octavian Ovidiu Radu Rodica Silviu Simona Stoyan Traian Valeriu Vasile Viorica",
        family="Albu Angelescu Antonescu Balan Bratu Cazacu Chirila Ciobanu Cojocaru Constantinescu "
        "Cristea Dinu Dobrev Dragomirescu Dumitrescu Enescu Georgiev Grigorescu Iliescu Ionescu Kolev "
        "Lazar Lupu Manea Marinescu Mocanu Munteanu Neagu Nistor Oprea Petkov Popescu Preda Rusu Sandu "
        "Stanciu Stoica Tudor Ungureanu Voicu",
    ),
    "russian": Culture(
        weight=5,
        nationalities="Russian, Ukrainian, Soviet, Georgian, Armenian",
        given="Aleksandra Aleksei Anatoly Andrei Aram Arkady Boris Dmitri Ekaterina Fyodor Galina Gennady "
        "Giorgi Grigory Igor Ilya Irina Ivan Kirill Konstantin Larisa Leonid Lev Lyudmila Maxim Mikhail "
        "Natalia Nikolai Oksana Oleg Olga Pyotr Sergei Stepan Svetlana Taras Tatiana Vadim Valentina "
        "Valery Vasily Vera Viktoria Vladimir Yakov Yelena Yuri Zinaida",
        family="Abramov Alekseev Antonov Babenko Belov Beridze Bondarenko Bykov Chernov Danilov Fedorov "
        "Filatov Fomin Gavrilov Golubev Grigoryan Gusev Karpov Kiselev Kozlov Kravchenko Krylov Kuzmin "
        "Lebedev Lysenko Makarov Medvedev Melnik Morozov Nikitin Orlov Pavlov Petrosyan Polyakov Popov "
        "Rybakov Sarkisyan Savchenko Shevchuk Sidorov Smirnov Sokolov Solovyov Tarasov Titov Tkachenko "
        "Vinogradov Volkov Voronin Yakovlev Zaitsev",
    ),
    "turkish": Culture(
        weight=2.5,
        nationalities="Turkish, Cypriot",
        given="Ahmet Ali Arda Ayla Aylin Bülent Burak Cem Cemal Deniz Elif Emine Emre Engin Ercan Erol "
        "Fatma Ferhat Gökhan Hakan Halil Hasan Hatice Huseyin Ibrahim Kemal Kenan Levent Mehmet Melek "
        "Murat Mustafa Nazim Nilüfer Okan Orhan Osman Selim Sevgi Sibel Tarkan Tuncay Turgut Ufuk Volkan "
        "Yusuf Zeynep",
        family="Acar Akın Aksoy Alkan Arslan Avci Aydin Bayrak Bozkurt Bulut Cakir Çelik Coskun Demir "
        "Dogan Durmaz Ekinci Erdem Ergin Eroğlu Gencer Gunes Kaplan Karaca Kaya Keskin Kilic Koç Korkmaz "
        "Ozkan Ozturk Polat Sahin Sezer Soylu Tekin Toprak Tuncer Uysal Uzun Yalcin Yavuz Yildirim Yılmaz",
    ),
    "arabic": Culture(
        weight=4.5,
        nationalities="Egyptian, Lebanese, Syrian, Iraqi, Moroccan, Algerian, Iranian, Tunisian",
        given="Abbas Abdallah Abdel_Rahman Adel Ahmad Aisha Amal Amin Amira Anwar Aziz Bashir Dalal Daoud "
        "Fadi Fahd Faisal Farid Fatima Ghassan Habib Hala Hamid Hisham Huda Ismail Jamal Kamal Karim "
        "Khalid Layla Mahmoud Majid Mansour Maryam Mohammed Mounir Nabil Nadia Naguib Omar Rashid Reza "
        "Sa'id Salah Salma Samir Tariq Walid Yasmin Youssef Zaynab Ziad",
        family="Abadi Abboud al-Amin al-Bakri al-Hakim al-Jabiri al-Khatib al-Masri al-Najjar al-Rifai "
        "al-Sayed Asfour Attar Azzam Barakat Benali bin_Talal Bouazza Chahine Darwish El-Ghazali Fakhoury "
        "Farahani Fares Ghanem Haddad Hamdan Hamidi Hariri Hashemi Hosseini Jaber Kanaan Karimi Khalil "
        "Khoury Maalouf Mansouri Mokhtar Moussa Nasser Nouri Qasim Rahimi Sabbagh Saleh Sharif Shirazi "
        "Taha Tahiri Tawfik Yazdi Zaki Zidan",
    ),
    "indian": Culture(
        weight=5,
        nationalities="Indian, Pakistani, Sri Lankan, Bangladeshi",
        given="Abhijit Aditya Ajay Amitabh Anand Anil Anjali Aparna Arjun Arun Asha Ashok Bhaskar Chandra "
        "Deepa Devendra Dinesh Ganesh Gopal Govind Hari Indira Jagdish Jayanti Kamala Kavita Kishore "
        "Lakshmi Madhav Mahesh Manoj Meena Mohan Nandini Naresh Padma Prakash Priya Rajesh Rakesh Ramesh "
        "Ravi Sanjay Savitri Shanti Shyam Sunil Suresh Uma Usha Vijay Vikram Vinod",
        family="Acharya Agarwal Ahluwalia Banerjee Basu Bhatia Bhattacharya Chakraborty Chatterjee "
        "Chaudhary Chopra Desai Deshpande Dutta Fernando Ganguly Ghosh Gokhale Gupta Hegde Iyer Jain "
        "Joshi Kapoor Khanna Kulkarni Kumar Malhotra Mehta Menon Mishra Mukherjee Nair Nayak Pandey Patel "
        "Patil Perera Pillai Rao Rathore Reddy Saxena Sengupta Sethi Sharma Shetty Shukla Sinha "
        "Subramaniam Thakur Tripathi Varma Verma Yadav",
        initials=0.08,
    ),
    "chinese": Culture(
        weight=4,
        nationalities="Chinese, Taiwanese, Malaysian, Singaporean",
        given="Aiguo Baoli Bin Bo Chao Chen Cheng Daming Fang Feng Guang Guofeng Hai Hong Hua Hui Jian "
        "Jianguo Jie Jing Jun Kai Lan Lei Li Liang Lihua Lin Ling Long Mei Meiling Min Ming Ning Ping "
        "Qiang Qing Rong Rui Shan Shu Tao Ting Wei Weiming Wen Xia Xiaoming Xin Xiu Xue Yan Yang Yi Ying "
        "Yong Yu Yuan Yun Zhen Zhi",
        family="Cai Cao Chang Cheung Chow Cui Deng Ding Dong Fan Fu Gao Gong Guo Han He Hou Hu Huang Jia "
        "Jiang Jin Kong Lai Lau Leung Liao Liu Lu Luo Ma Mao Meng Mo Ng Pan Peng Qian Qin Ren Shen Shi "
        "Song Su Sun Tan Tang Tian Wan Wang Wu Xiao Xie Xu Yao Ye Yin Zeng Zhang Zhao Zheng Zhong Zhou Zhu",
    ),
    "japanese": Culture(
        weight=4,
        nationalities="Japanese",
        given="Aiko Akihiko Akira Ayumi Chieko Daisuke Eiji Emi Fumiko Goro Hanako Haruka Haruki Hideo "
        "Hiroshi Hitoshi Ichiro Isamu Jiro Junko Kaoru Katsuo Kazuko Keiko Kenji Kiyoshi Makoto Mariko "
        "Masako Masao Michiko Minoru Naoko Nobuo Noriko Ryo Saburo Sachiko Satoshi Shigeru Shinji Shizuka "
        "Tadashi Takashi Takeshi Tetsuo Toshiko Yasuo Yoko Yoshio Yukio Yumiko",
        family="Abe Aoki Arai Endo Fujita Fukuda Goto Hara Hasegawa Hayashi Hirano Honda Hoshino Ikeda "
        "Imai Inoue Ishikawa Ito Iwasaki Kato Kawaguchi Kikuchi Kimura Kobayashi Kondo Maeda Matsuda "
        "Mizuno Mori Murakami Nakagawa Nakajima Nakamura Nishida Noguchi Ogawa Okada Okamoto Ono Ota "
        "Saito Sakai Sasaki Sato Shimizu Suzuki Takada Takahashi Tamura Tanaka Uchida Ueda Ueno Wada "
        "Watanabe Yamada Yamamoto Yoshida",
    ),
    "african": Culture(
        weight=4,
        nationalities="Nigerian, Ghanaian, Kenyan, South African, Senegalese, Ugandan, Jamaican",
        given="Abena Adaeze Ade Akosua Ama Amadou Amara Aminata Babajide Bongani Boubacar Cheikh Chidi "
        "Chinua Chioma Efua Ekow Emeka Esi Femi Folake Funmilayo Ifeoma Jabari Juma Kofi Kwabena Kwame "
        "Kwesi Lerato Mamadou Moussa Naledi Ngozi Nomvula Oluwaseun Ousmane Sekou Sipho Tendai Thabo "
        "Themba Tunde Wanjiku Yaw Zainab Zanele",
        family="Abiola Acheampong Achebe Adebayo Adeyemi Agyeman Amoah Ansah Asante Ba Balogun Boateng "
        "Camara Chukwu Coulibaly Dhlamini Diallo Diop Dlamini Ekwueme Eze Fofana Gyasi Kamau Kariuki "
        "Keita Khumalo Kimani Konadu Kone Mahlangu Mbeki Mensah Mokoena Moyo Mugisha Mutasa Mwangi Ncube "
        "Ndiaye Ndlovu Nkosi Nwosu Obi Odhiambo Ofori Okafor Okeke Okello Okonkwo Onyango Oyelaran "
        "Sarpong Sesay Sithole Sow Toure Traore Usman Yeboah Zulu",
    ),
}
